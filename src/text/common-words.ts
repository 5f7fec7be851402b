import { stemOf } from './stem.ts'

/** Frequent English verbs and nouns that carry little of a question's subject. In no order. */
const COMMON_WORDS = `able add agree allow allowed answer anybody anyone anything appear apply arrive ask back bad begin behave belong best
better big bought box bring buy call called case certain change check choose close come common consider contain
correct count create current currently day decide define depend describe detail difference different during early easy
eight end enough everybody everyone exact exactly example exist expect explain fact far feel fill find first fit five
fix follow form four full future general get give go good great guess half hand handle happen hard head help high hold
hour idea important include inside instead involve involved keep kind know large last late latest lead learn leave
left less level like line little live long look lot low main make many matter mean mention might mind moment month
move much must name near need never new next nine nobody normal normally note nothing number old one open ought part
particular past pay people person piece place plan point possible prefer present problem provide purpose put question
quick rate read ready real reason receive recent remember remove request right run save say second see seem send
separate set seven several shall short show side similar simple single situation six small somebody someone something
sort sound speak special start state stay step still stop store sure take talk team tell ten thing think three time
today together tomorrow top total track true try turn two type understand use used usual usually wait want way week
well whoever whole wide work world wrong year yesterday`

const COMMON = new Set(COMMON_WORDS.split(/\s+/).map(stemOf))

/** "directly", "usually" */
const ADVERB = /^[a-z]{3,}ly$/

/** Tells whether a folded word carries little of a question's subject. */
export const isCommon = (word: string): boolean => COMMON.has(stemOf(word)) || ADVERB.test(word)
