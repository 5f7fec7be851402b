/** Words of errors in call records that others look for. A client can provoke both, by what it asks for. */

/** Part of the error of an answer that did not come in time. */
export const NOT_IN_TIME = 'sent nothing for'
/** Part of the error of an answer that is not read further. */
export const TOO_LARGE = 'its reply is larger than'
