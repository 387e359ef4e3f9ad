// Reports and promises in words.
import {rational} from "./thresholds.js";

const percent = share => `${(100 * share).toPrecision(3)} %`;

function ratio(text) {
  const [above, below] = rational(text);
  return Number(above * 10n ** 15n / below) / 1e15;
}

// What nobody can learn from the report of one answer.
export function promiseOf(terms) {
  const epsilon = ratio(terms.epsilon);
  return `${honesty(terms, epsilon)}Whatever you answer, no report is more than ${atMost(Math.exp(epsilon))} times as`
    + ` likely as it would be with another answer (ε = ${atMost(epsilon)}). The smaller that number, the less it tells.`;
}

// What ε means for everything that is sent together: how sure somebody can become who was undecided before.
export function meaningOf(epsilon) {
  const sure = 100 / (1 + Math.exp(-epsilon));
  return "If somebody held two ways in which you may have answered for equally likely before, they can be at most"
    + ` ${atMost(sure)} % sure of one of them after seeing everything that you send; 50 % would be no wiser than before.`;
}

// Three digits, rounded up but for what floats have lost.
export function atMost(value) {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return String(Number((Math.ceil(value / unit * (1 - 1e-9)) * unit).toPrecision(3)));
}

function honesty(terms, epsilon) {
  if (!["rr", "grr"].includes(terms.kind)) return "";
  const grown = Math.exp(epsilon);
  const truth = "truth" in terms.parameters ? ratio(terms.parameters.truth) : grown / (grown + terms.domain.length - 1);
  return `The truth is sent with a chance of ${percent(truth)}, and otherwise ${terms.domain.length === 2
    ? "the opposite" : "one of the other answers"}. `;
}

// A report as a person reads it.
export function inWords(terms, report) {
  if ("answer" in report) return terms.domain[report.answer];
  if ("position" in report) return terms.domain[report.position];
  if ("bits" in report) return `the set { ${members(terms, report.bits).join(", ")} }`;
  if ("row_and_sign" in report) {
    const sign = report.row_and_sign & 1 ? "minus" : "plus";
    return `row ${report.row_and_sign >> 1} of a public table, with a ${sign}`;
  }
  if ("bit" in report) return bitWords(report.bit);
  const {steps, window} = terms.parameters, number = report.number ?? report.number_or_bit;
  if (number >= steps + window) return bitWords(number - steps - window);
  return `the number ${number} of 0 to ${steps + window - 1}, near ${nearest(terms, number).toPrecision(3)}`;
}

// The answer for which this report is in the middle of those that are likely.
function nearest(terms, number) {
  const {steps, window} = terms.parameters, lower = ratio(terms.domain.lower), upper = ratio(terms.domain.upper);
  return lower + (number - (window - 1) / 2) / steps * (upper - lower);
}

const bitWords = bit => bit ? "one bit: high" : "one bit: low";

function members(terms, bits) {
  const bytes = typeof bits === "number" ? [bits] : bits.match(/../g).map(digits => parseInt(digits, 16));
  return terms.domain.filter((_, place) => bytes[place >> 3] >> (place & 7) & 1);
}

// How throws decide, for those who want to follow.
export function ruleByHand(terms) {
  const closing = " Let chance decide: throws that you make up protect you less.";
  const truth = terms.kind === "rr" ? terms.parameters.truth : undefined;
  if (truth === "3/4") {
    return "Heads: the truth is sent. Tails: flip again; heads: the truth, tails: the opposite." + closing;
  }
  if (truth === "2/3") return "With a die: 1 or 2 sends the opposite, 3 to 6 the truth." + closing;
  return "Your throws are the digits of a random number (tails 0, heads 1; or a die less one), and each decision compares"
    + " such a number with a probability, digit by digit, until it is clear which one is smaller." + closing;
}
