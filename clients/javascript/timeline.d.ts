/** Types of the timelines. */

export { Timeline } from './agd.js'
