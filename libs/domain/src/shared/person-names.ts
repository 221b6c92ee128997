/*
 * Which characters a person's name may have. Names stand on tickets and in lists, so two names that look the same must be the same:
 * no character that nobody sees, and no letter of another script that looks like the expected one (`Mаrko` with a Cyrillic а).
 */

/** Almost all names of our fans: these need no further check. */
const ONLY_LATIN = /^[\x20-\x7e\u00c0-\u024f\u1e00-\u1eff]*$/;

/** Characters without a shape of their own. The last three look like a space, and like nothing. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800\u{1d159}\u{16fe4}]/u;

/** Scripts in which U+200C and U+200D change how the letters beside them are joined. */
const SCRIPTS_WITH_JOINERS = [
  ...['Adlm', 'Arab', 'Mand', 'Mong', 'Nkoo', 'Rohg', 'Syrc'],
  ...[
    'Bali',
    'Beng',
    'Cakm',
    'Deva',
    'Gujr',
    'Guru',
    'Java',
    'Khmr',
    'Knda',
    'Mlym',
    'Mymr',
    'Newa',
    'Orya',
    'Sinh',
    'Sylo',
    'Taml',
    'Telu',
  ],
];
const joinersIn = (script: string): string =>
  `(?<=(?=[\\p{L}\\p{M}])\\p{scx=${script}})[\\u200c\\u200d](?=(?=[\\p{L}\\p{M}])\\p{scx=${script}})`;
/** Variation selectors choose the shape of the character before them: of an emoji, a Chinese character or a Mongolian letter. */
const SELECTORS =
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji}])[\\ufe0e\\ufe0f]|(?<=\\p{sc=Hani})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]|(?<=\\p{sc=Mong})[\\u180b-\\u180d\\u180f]';
const NEEDED = new RegExp([...SCRIPTS_WITH_JOINERS.map(joinersIn), SELECTORS].join('|'), 'gu');

/** The scripts that are written today (UAX #31, tables 5 and 7, and Mongolian). */
const SCRIPTS = [
  ...[
    'Latn',
    'Cyrl',
    'Grek',
    'Arab',
    'Armn',
    'Beng',
    'Bopo',
    'Deva',
    'Ethi',
    'Geor',
    'Gujr',
    'Guru',
    'Hang',
    'Hani',
    'Hebr',
    'Hira',
    'Kana',
  ],
  ...['Khmr', 'Knda', 'Laoo', 'Mlym', 'Mong', 'Mymr', 'Orya', 'Sinh', 'Taml', 'Telu', 'Thaa', 'Thai', 'Tibt'],
  ...[
    'Adlm',
    'Bali',
    'Bamu',
    'Batk',
    'Cakm',
    'Cans',
    'Cham',
    'Cher',
    'Hmnp',
    'Java',
    'Kali',
    'Lana',
    'Lepc',
    'Limb',
    'Lisu',
    'Mand',
    'Mtei',
  ],
  ...[
    'Newa',
    'Nkoo',
    'Olck',
    'Osge',
    'Plrd',
    'Rohg',
    'Saur',
    'Sund',
    'Sylo',
    'Syrc',
    'Tale',
    'Talu',
    'Tavt',
    'Tfng',
    'Vaii',
    'Wcho',
    'Yiii',
  ],
];
/** The mixtures that UTS #39 calls highly restrictive: Japanese, Chinese with Bopomofo, and Korean, each with Latin letters. */
const MIXTURES = [
  ['Latn', 'Hani', 'Hira', 'Kana'],
  ['Latn', 'Hani', 'Bopo'],
  ['Latn', 'Hani', 'Hang'],
];
const lettersOf = (scripts: readonly string[]): string => scripts.map((script) => `\\p{scx=${script}}`).join('');
/** Matches a word whose letters are all of these scripts. Marks and letters that belong to no script fit to all of them. */
const wordOf = (scripts: readonly string[]): RegExp =>
  new RegExp(`^(?:[^\\p{L}\\p{M}]|[${lettersOf(scripts)}\\p{scx=Zyyy}\\p{sc=Zinh}])*$`, 'u');
const ALLOWED_WORDS = [
  ...[...MIXTURES, ...SCRIPTS.map((script) => [script])].map(wordOf),
  // Historic scripts are not told apart.
  new RegExp(`^[^${lettersOf(SCRIPTS)}]*$`, 'u'),
];

/** True if the name has a character that nobody sees. U+200C and U+200D are allowed between letters of scripts that need them. */
export function hasInvisibleCharacters(name: string): boolean {
  return !ONLY_LATIN.test(name) && INVISIBLE.test(name.replace(NEEDED, ''));
}

/** True if a word of the name has letters of different scripts, except for the mixtures of Japanese, Chinese and Korean. */
export function mixesScripts(name: string): boolean {
  return (
    !ONLY_LATIN.test(name) && name.split(/\p{White_Space}+/u).some((word) => !ALLOWED_WORDS.some((allowed) => allowed.test(word)))
  );
}
