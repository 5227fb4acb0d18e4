"""Speech-to-text and text-to-speech that need no key, no account and no network.

For trying an application and for its tests: pocketsphinx hears what the application says may be
said, espeak-ng or flite speaks.
"""
