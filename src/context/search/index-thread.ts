import { answerQuestions } from '../../wire/thread-code.ts'
import { type IndexUpdate, updateIndex } from './update.ts'

/** Entry of the worker thread that `createProjectIndex` starts. */
answerQuestions((update: IndexUpdate) => updateIndex(update))
