import { answerQuestions } from '../wire/thread-code.ts'
import { type Walk, walkWithin } from './walk.ts'

/** The thread of `walk`. */
answerQuestions((walk: Walk) => walkWithin(walk))
