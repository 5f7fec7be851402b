/** Channels of the attention tensor: cognitive, emotional, environmental. */
export type Channel = 'cog' | 'emo' | 'env'

/**
 * Beginnings of English words about thinking (COG), feeling (EMO), or surroundings (ENV). A small selection of our own.
 * It follows the categories of cognitive processes, affect, and perception and space in such dictionaries (Tausczik and
 * Pennebaker 2010).
 */
const BEGINNINGS: Record<Channel, string> = {
  cog: `analys analyz argu assum because calcul caus choos clarif compar compil comput conclu conside correct
    debug decid decis deduc defin depend deriv design determin differ effect error estimat evaluat examin exampl explain
    explan fail fix hence how idea implement infer investigat know learn logic meaning method plan prob proof prov question
    reason refactor remember result solv specif step summar suppos test theor therefore think thought understand understood
    verif whether why wonder`,
  emo: `afraid amaz anger angry annoy anxi appreciat ashamed awful bad beautiful best calm confus delight desperat
    disappoint enjoy excit fear feel felt frustrat fun glad good great grateful happy hate hope horribl hurt irritat joy
    laugh like lonely love lovely mad nervous nice overwhelm panic perfect please proud relax relie sad scar sorry stress
    surpris terribl thank tired trust ugly unhappy upset urgent wonderful worr worst wow`,
  env: `above across app background behind below beside browser button camera click column cursor desk desktop device
    directory display door editor far folder file glance here keyboard left light line look loud mouse monitor near noise
    notif office outside page panel path phone place position quiet repository right room screen scroll see seen server
    sound tab terminal there top under url view watch website where window`,
}

/** Length below which an entry matches the whole word only: `app` does not match `appreciate`, nor `how` `however`. */
const SHORTEST_BEGINNING = 4

const channels = new Map(
  (Object.entries(BEGINNINGS) as Array<[Channel, string]>).flatMap(([channel, words]) =>
    words.split(/\s+/).map((word) => [word, channel] as const),
  ),
)

/** Returns the channel of a folded word, by the longest listed beginning; null without one. */
export function channelOf(word: string): Channel | null {
  const whole = channels.get(word)
  if (whole !== undefined) return whole
  for (let length = word.length - 1; length >= SHORTEST_BEGINNING; length--) {
    const channel = channels.get(word.slice(0, length))
    if (channel !== undefined) return channel
  }
  return null
}
