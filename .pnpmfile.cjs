// It names x64 as well, where it would be 20 MB that nothing can use.
const only = { "@node-llama-cpp/linux-arm64": ["arm64"] };

const readPackage = (manifest) => ({ ...manifest, cpu: only[manifest.name] ?? manifest.cpu });

module.exports = { hooks: { readPackage } };
