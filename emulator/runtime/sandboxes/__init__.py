"""The containers of Durable Objects: started, asked, watched and ended for the objects that own them."""
