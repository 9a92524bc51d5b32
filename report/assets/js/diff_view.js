// diff_view
