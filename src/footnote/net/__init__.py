"""The one way out: every outgoing connection of the program is made here."""
