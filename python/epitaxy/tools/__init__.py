"""Looking inside: the trail of a program through the layers. Reads what the engine recorded; nothing depends on it."""
