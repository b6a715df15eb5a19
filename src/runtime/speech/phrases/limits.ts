/** VO-60: where a phrase ends at the latest, and from how many words on a comma ends one. */
export const phraseLimits = { tokens: 30, characters: 200, commaFromWords: 4 } as const;
