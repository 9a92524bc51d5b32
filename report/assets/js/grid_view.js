// grid_view
