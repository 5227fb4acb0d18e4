const path = require("node:path");
const { getDefaultConfig } = require("expo/metro-config");

const config = getDefaultConfig(__dirname);

// The packages stand beside the app. What they import is the app's: two copies of React do not work together.
config.watchFolders = [path.dirname(__dirname)];
config.resolver.resolveRequest = (context, name, platform) => {
  const ours = !path.relative(__dirname, context.originModulePath).startsWith("..");
  const own = ours || name.startsWith(".") || name.startsWith("/");
  const originModulePath = own ? context.originModulePath : path.join(__dirname, "index.ts");
  return context.resolveRequest({ ...context, originModulePath }, name, platform);
};

module.exports = config;
