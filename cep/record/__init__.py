"""The record of accepted events: written by mappers, deleted by day, read for the pages of alerts.

Nothing that goes on needs it: what cannot be written or read loses pages, and no alert (decision 59).
"""
