echo pass
