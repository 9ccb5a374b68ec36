"""R44 with the norm before attention: LN reads x, attention reads LN(x), and its output is added to x itself."""
