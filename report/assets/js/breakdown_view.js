// breakdown_view
