"""Burns in its only frame: too little of a stack to prove a layout by."""
while True:
    pass
