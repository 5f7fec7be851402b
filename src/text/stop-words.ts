/** Stop words by language, folded. */
const STOP_WORDS = [
  // English
  `a about again all also am an and any are as at be because been being between both but by can could did do does doing
  done down each either else ever every few for from further had has have having he her here hers herself him himself his
  how however i if in into is isn it its itself just let may me might more most must my myself neither no nor not now of
  off on once only onto or other our ours ourselves out over own per please quite rather re s same shall she should so
  some such t than that the their theirs them themselves then there these they this those though through to too under
  until up upon us ve very via was we were what whatever when where whether which while who whom whose why will with
  within without would yes yet you your yours yourself ll don doesn didn won wouldn couldn shouldn aren wasn weren hasn
  haven hadn`,
  // German
  `aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da dabei damit dann das dass dein
  deine dem den denn der des deshalb dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
  einem einen einer eines er es etwas euch euer fur gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
  ihr ihre ihrem ihren im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen konnen konnte machen
  man manche mein meine mich mir mit mochte muss mussen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seit
  sich sie sind so soll sollen sollte sondern sonst uber um und uns unser unsere unter viel vom von vor wann war waren
  warum was weil welche welchem welchen welcher welches wenn wer werde werden weshalb wie wieder wieso will wir wird wo
  woher wohin wollen wurde wurden zu zum zur zwar zwischen`,
  // French
  `a ai alors au aucun aussi autre aux avec avoir car ce cela ces cet cette ceux chaque comme comment d dans de des du
  donc elle elles en encore est et etaient etait etant etc ete etre eu eux faire fait il ils j je l la le les leur leurs
  lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou par pas peu peut plus pour pourquoi qu quand que
  quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute
  toutes tres tu un une vos votre vous y`,
  // Spanish
  `a al algo alguna algunas alguno algunos ante antes aquel aqui asi aun aunque cada como con contra cual cuales cuando
  cuanto de del desde donde dos el ella ellas ellos en entre era es esa esas ese eso esos esta estaba estamos estan estar
  estas este esto estos fue fueron ha han hasta hay la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o
  os otra otro para pero poco por porque que quien quienes se sea ser si sin sobre son su sus tambien tan tanto te tiene
  tienen todo todos tu tus un una unas uno unos usted ustedes y ya yo`,
].map((words) => new Set(words.split(/\s+/)))
const [ENGLISH = new Set<string>()] = STOP_WORDS

/** A word of Hiragana alone: the script of Japanese endings and particles. */
const HIRAGANA = /^\p{sc=Hiragana}+$/u

/** Tells whether a folded word is an English stop word. */
export const isStopWord = (word: string): boolean => ENGLISH.has(word)

/**
 * Removes the stop words from a query. The language is the one with the most stop words in the query, English when in
 * doubt. A query of stop words alone is returned unchanged.
 *
 * @param words folded
 */
export function withoutStopWords<T extends { text: string }>(words: readonly T[]): T[] {
  const stop = stopWordsFor(words)
  const telling = words.filter(({ text }) => !stop.has(text) && !HIRAGANA.test(text))
  return telling.length > 0 ? telling : [...words]
}

function stopWordsFor(words: ReadonlyArray<{ text: string }>): ReadonlySet<string> {
  const held = (list: ReadonlySet<string>) => words.filter(({ text }) => list.has(text)).length
  return STOP_WORDS.reduce((most, list) => (held(list) > held(most) ? list : most), ENGLISH)
}
