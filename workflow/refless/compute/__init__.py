"""What compiled code shares: the compiler (`compiled`), and texts as arrays (`words`)."""
