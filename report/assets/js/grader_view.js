// grader_view
