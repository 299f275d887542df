"""Serves a model with Ray Serve LLM until it is ended. `report:fronts` runs it; the arguments are JSON and a request router."""

import json
import sys

import ray
from ray import serve
from ray.serve.llm import build_openai_app

settings = json.loads(sys.argv[1])
model = settings["model"]
if len(sys.argv) > 2:
    model["deployment_config"]["request_router_config"] = {"request_router_class": sys.argv[2]}

ray.init(
    num_cpus=4,
    include_dashboard=False,
    object_store_memory=200 * 2**20,
    _node_ip_address="127.0.0.1",
    _metrics_export_port=settings["metricsPort"],
)
serve.start(http_options={"host": "127.0.0.1", "port": settings["port"]})
ingress = {"num_replicas": 1, "ray_actor_options": {"num_cpus": 0.1}}
serve.run(build_openai_app({"llm_configs": [model], "ingress_deployment_config": ingress}), blocking=True)
