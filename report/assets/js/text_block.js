// text_block
