// case_view
