import { answerQuestions } from '../wire/thread-code.ts'
import { analyse } from './analyse.ts'

/** The thread of `analyseRecords`. */
answerQuestions(analyse)
