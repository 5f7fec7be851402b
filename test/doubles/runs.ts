/** Tells whether the long tests run, which repeat some cases of others with more values. */
export const IS_LONG = process.env.GAZEWAY_TEST_LONG === '1'

/** Runs of a property that costs seconds: all of them in the long tests, otherwise a fifth. */
export const runsOf = (all: number): number => (IS_LONG ? all : Math.ceil(all / 5))
