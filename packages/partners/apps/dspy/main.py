import os

import dspy

model = dspy.LM(
    "openai/vendor/model-1",
    api_base=os.environ["PARLEY_URL"],
    api_key=os.environ["PARLEY_KEY"],
    model_type="chat",
)
print(model("What is a reentrancy attack?")[0])
