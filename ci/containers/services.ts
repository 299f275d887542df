import { dag } from "@dagger.io/dagger";
import type { Container, Service } from "@dagger.io/dagger";
import type { SecretName } from "../command.ts";
import { imageOf } from "../images.ts";
import { serviceOf } from "../services.ts";
import type { ServiceName } from "../services.ts";
import { sharedInputs } from "../step.ts";
import { containerOf, sourceOf } from "./images.ts";

/** Adds secrets by name. Dagger reads a value from the environment of this process when it is used, so no query contains it. */
export const withSecrets = (container: Container, names: readonly SecretName[]): Container =>
  names.reduce((one, name) => one.withSecretVariable(name, dag.secret(`env://${name}`)), container);

export const withVariables = (container: Container, variables: Readonly<Record<string, string>>): Container =>
  Object.entries(variables).reduce((one, [name, value]) => one.withEnvVariable(name, value), container);

/** Binds a service to a container. The step finds its URLs in the variables that the service declares. */
export const bindService = (container: Container, name: ServiceName, inputs: readonly string[]): Container =>
  withVariables(container.withServiceBinding(name, serviceWith(name, inputs)), urlsOf(name));

const urlsOf = (name: ServiceName): Record<string, string> =>
  Object.fromEntries(
    Object.entries(serviceOf(name).ports).map(([variable, port]) => [variable, `http://${name}:${port}`]),
  );

function serviceWith(name: ServiceName, inputs: readonly string[]): Service {
  const { command, image, ports, secrets, environment } = serviceOf(name);
  const own = environment({ host: "0.0.0.0", folder: "/tmp/service", portOf: (variable) => ports[variable] ?? 0 });
  const base = containerOf(image);
  const source = imageOf(image).hasWorkspace ? base.withDirectory(".", sourceOf([...sharedInputs, ...inputs])) : base;
  const ready = Object.values(ports).reduce(
    (one, port) => one.withExposedPort(port),
    withSecrets(withVariables(source, own), secrets),
  );
  return command ? ready.asService({ args: [...command] }) : ready.asService({ useEntrypoint: true });
}
