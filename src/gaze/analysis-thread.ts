import { answerQuestions } from '../thread-code.ts'
import { analyse } from './analyse.ts'

/** The thread of `analyseRecords`. */
answerQuestions(analyse)
