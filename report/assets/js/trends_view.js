// trends_view
