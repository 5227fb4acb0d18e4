module.exports = {
  preset: "jest-expo",
  testTimeout: 60_000, // no test is about time; a busy machine may take long
  testMatch: ["<rootDir>/tests/**/*.test.tsx"],
  // The packages stand beside the app. What they import is the app's: two copies of React do not work together.
  moduleNameMapper: {
    "^(react|livekit-client)(/.*)?$": "<rootDir>/node_modules/$1$2",
    "^@livekit/react-native$": "<rootDir>/tests/livekit.ts",
  },
  transformIgnorePatterns: [
    "node_modules/(?!((jest-)?react-native|@react-native|expo|@expo|@livekit)(/|-))",
  ],
};
