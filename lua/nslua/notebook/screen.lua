-- nslua.notebook.screen: where values, pictures and progress are shown: in the cells of a notebook, or, when no
-- notebook runs this program, as text.
--
-- The worker of a kernel sets the functions below; without one they are nil.
--   show(data, metadata, options)   shows { [media type] = contents }; options.id names what is shown, and with
--                                   options.update what has this name is replaced
--   clear(wait)                     empties the output of the cell; with `wait` when the next output comes
--   clock()                         seconds; without it progress is not shown
--   bar(text, last)                 shows a line of progress in a terminal
-- ns.plot sets forget(): the next command of ns.plot makes a new figure.
-- screen.figures is a list of the figures that were made since it was set; nil without a notebook.

return { options = { pictures = "png", dpi = 144 } }
