import { answerQuestions } from '../wire/thread-code.ts'
import { analyse } from './analyse.ts'

/** Entry of the worker thread that `analyseRecords` starts. */
answerQuestions(analyse)
