opencode run "What is a reentrancy attack?"
