progenitor::generate_api!(spec = "openapi.json", interface = Builder);
