import { dag } from "@dagger.io/dagger";
import type { Container, Directory } from "@dagger.io/dagger";
import { imageOf, pinOf } from "../images.ts";
import type { ImageName } from "../images.ts";
import { pnpm } from "../pnpm.ts";
import { root } from "../root.ts";
import { lockFiles } from "../step.ts";

/** Folder of the repository in every container. */
export const workdir = "/parley";

/** Folders that outlive a run. If they are lost, their content is downloaded again. */
const caches: Readonly<Record<string, string>> = {
  "/root/.npm": "parley-npm",
  "/root/.local/share/pnpm": "parley-pnpm",
  "/root/.cache": "parley-cache",
  [`${workdir}/.parley/python`]: "parley-python",
};

/** Files of the repository that git does not ignore. */
export const sourceOf = (paths: readonly string[]): Directory =>
  dag.host().directory(root, {
    ...(paths.includes(".") ? {} : { include: paths.flatMap((path) => [path, `${path}/**`]) }),
    gitignore: true,
  });

/** Makes the container of an image, without the source. It has the packages of the lock file if the image needs them. */
export function containerOf(name: ImageName): Container {
  const { dockerfile, pin, debian = [], sharedMemoryBytes: size, hasWorkspace } = imageOf(name);
  const image = pinOf(pin);
  if (dockerfile) {
    const { context, file } = dockerfile;
    const directory = dag.host().directory(`${root}/${context}`, { gitignore: true });
    return directory
      .dockerBuild({ dockerfile: file, buildArgs: [{ name: "BASE", value: image }] })
      .withWorkdir(workdir);
  }
  const base = withPackages(dag.container().from(image), debian).withWorkdir(workdir);
  const sized = size === undefined ? base : base.withMountedTemp("/dev/shm", { size });
  return hasWorkspace ? withWorkspace(sized) : sized;
}

const withPackages = (container: Container, names: readonly string[]): Container =>
  names.length === 0
    ? container
    : container.withExec([
        "sh",
        "-c",
        `apt-get update && apt-get install --yes --no-install-recommends ${names.join(" ")} && rm -rf /var/lib/apt/lists/*`,
      ]);

function withWorkspace(container: Container): Container {
  const cached = Object.entries(caches).reduce(
    (one, [path, volume]) => one.withMountedCache(path, dag.cacheVolume(volume)),
    container,
  );
  return (
    cached
      // The lock files come first, so that a change of the source does not reinstall the packages.
      .withDirectory(".", dag.host().directory(root, { include: [...lockFiles] }))
      .withExec([...pnpm, "install", "--frozen-lockfile", "--reporter=append-only"])
      .withEnvVariable("PATH", `${workdir}/node_modules/.bin:$PATH`, { expand: true })
  );
}
