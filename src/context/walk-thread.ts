import { answerQuestions } from '../wire/thread-code.ts'
import { type Walk, walkWithin } from './walk.ts'

/** Entry of the worker thread that `walk` starts. */
answerQuestions((walk: Walk) => walkWithin(walk))
