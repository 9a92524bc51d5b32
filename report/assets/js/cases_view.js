// cases_view
