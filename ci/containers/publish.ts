import { dag } from "@dagger.io/dagger";
import { containerOf } from "./images.ts";

/** The registry's password stands in `REGISTRY_PASSWORD`, its user in `REGISTRY_USER`; without them it has to be open. */
export function publishServer(reference: string): Promise<string> {
  const image = containerOf("server");
  const { REGISTRY_USER: user, REGISTRY_PASSWORD: password } = process.env;
  const [host = ""] = reference.split("/");
  const signedIn =
    user === undefined || password === undefined
      ? image
      : image.withRegistryAuth(host, user, dag.secret("env://REGISTRY_PASSWORD"));
  return signedIn.publish(reference);
}
