"""Colours for rules: a lexer for pages and a grammar for editors, both made from one table.

places            the table: in which place which characters are what
pygments_lexer    the table for pygments, which an application that wants it must have installed
textmate          the table for editors that read TextMate grammars: editors/cep.tmLanguage.json
"""
