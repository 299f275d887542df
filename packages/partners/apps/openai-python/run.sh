python main.py
