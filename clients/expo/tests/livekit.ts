/** In place of the native module, which only a phone has. */

export const AudioSession = {
  startAudioSession: async () => {},
  stopAudioSession: async () => {},
};
