"""Speech-to-text and text-to-speech that need no key, no account and no network.

For trying an application and for its tests: pocketsphinx recognises the sentences that the
application declares, espeak-ng or flite speaks.
"""
