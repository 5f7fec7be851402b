import { answerQuestions } from '../../wire/thread-code.ts'
import { type IndexUpdate, updateIndex } from './update.ts'

/** The thread of `createProjectIndex`. */
answerQuestions((update: IndexUpdate) => updateIndex(update))
