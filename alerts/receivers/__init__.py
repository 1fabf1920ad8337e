"""Where alerts go: each module makes single attempts at one kind of receiver; `dispatch` decides when."""
