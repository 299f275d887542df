import { dag } from "@dagger.io/dagger";
import { containerOf } from "./images.ts";

/** Publishes the server's image. `REGISTRY_USER` and `REGISTRY_PASSWORD` are the credentials; without them the registry must be open. */
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
