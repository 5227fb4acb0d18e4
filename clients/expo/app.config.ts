import type { ExpoConfig } from "expo/config";

const config: ExpoConfig = {
  name: "Bella Vista",
  slug: "bella-vista",
  version: "0.1.0",
  orientation: "portrait",
  userInterfaceStyle: "automatic",
  // The page server's address, as the phone reaches it: python -m bella_vista web.
  extra: { server: process.env.EXPO_PUBLIC_PAGE_SERVER ?? "http://10.0.2.2:8000" },
  ios: {
    bundleIdentifier: "com.example.bellavista",
    infoPlist: {
      NSMicrophoneUsageDescription: "You talk to the restaurant.",
      NSAppTransportSecurity: { NSAllowsLocalNetworking: true },
      UIBackgroundModes: ["audio"], // the agent's voice goes on in the background
    },
  },
  android: { package: "com.example.bellavista" },
  plugins: ["@livekit/react-native-expo-plugin", "@config-plugins/react-native-webrtc"],
};

export default config;
