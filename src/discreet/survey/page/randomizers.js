// From a true answer to a private report, by the terms of a question. Each function does, word for word of randomness,
// what the file of the same kind in discreet/local does for one person; tests hold both against the same vectors.
import {rational, thresholdOf, thresholdOfExponential, thresholdOfOdds} from "./thresholds.js";

// `answer` is a position, as `position` finds it; the report is an object with the fields that the terms lay out.
export function randomize(terms, answer, chance) {
  const values = kinds[terms.kind](terms, answer, chance);
  return Object.fromEntries(terms.layout.map(([name], place) => [name, values[place]]));
}

const kinds = {rr, grr, oue, sue, subset, hadamard, duchi, piecewise, hybrid};

// Where an answer stands: the place of a category, or the nearest step between the bounds of a number.
export function position(terms, answer) {
  if (Array.isArray(terms.domain)) return known(terms.domain.indexOf(answer));
  const [value, lower, upper] = [answer, terms.domain.lower, terms.domain.upper].map(rational);
  const above = minus(value, lower), width = minus(upper, lower), past = minus(upper, value);
  if (above[0] < 0n || past[0] < 0n) known(-1);
  const count = BigInt(terms.parameters.steps), whole = 2n * above[1] * width[0];
  return Number((2n * count * above[0] * width[1] + above[1] * width[0]) / whole);
}

function known(place) {
  if (place < 0) throw new RangeError("this is none of the possible answers");
  return place;
}

const minus = ([a, b], [c, d]) => [a * d - c * b, b * d];

// Two answers: the truth, or the other one.
function rr(terms, answer, chance) {
  const [lie] = chance.coins(1, lieOf(terms, 2));
  return [lie ? 1 - answer : answer];
}

// Several answers: the truth, or one of the others. The other one is drawn in any case.
function grr(terms, answer, chance) {
  const count = terms.domain.length, [lie] = chance.coins(1, lieOf(terms, count));
  const other = chance.uniform(count - 1);
  return [lie ? other + (other >= answer) : answer];
}

// A bit for each category: 1 with probability 1/(e^ε + 1), at the true one with probability 1/2.
function oue(terms, answer, chance) {
  const bits = chance.coins(terms.domain.length, thresholdOfOdds(rational(terms.epsilon), [1n, 1n]));
  [bits[answer]] = chance.coins(1, thresholdOf([1n, 2n]));
  return [packed(bits)];
}

// A bit for each category, each flipped with probability 1/(e^(ε/2) + 1).
function sue(terms, answer, chance) {
  const [above, below] = rational(terms.epsilon), flip = thresholdOfOdds([above, 2n * below], [1n, 1n]);
  const bits = chance.coins(terms.domain.length, flip);
  bits[answer] = !chance.coins(1, flip)[0];
  return [packed(bits)];
}

// A set of ω categories: Floyd's selection, with the true category and the first in each other's place.
function subset(terms, answer, chance) {
  const count = terms.domain.length, chosen = terms.parameters.chosen, first = count - 1 - chosen;
  const odds = [BigInt(count - chosen), BigInt(chosen)];
  const [out] = chance.coins(1, thresholdOfOdds(rational(terms.epsilon), odds));
  const bits = Array(count).fill(false);
  bits[0] = !out;
  bits[1 + chance.uniform(first + 1)] = out;
  for (let last = first + 1; last < count - 1; last++) {
    const found = 1 + chance.uniform(last + 1);
    bits[bits[found] ? 1 + last : found] = true;
  }
  [bits[0], bits[answer]] = [bits[answer], bits[0]];
  return [packed(bits)];
}

// A row of the Hadamard matrix, and its sign at the answer or the other sign.
function hadamard(terms, answer, chance) {
  const row = chance.uniform(terms.parameters.rows);
  const [lie] = chance.coins(1, lieOf(terms, 2));
  return [2 * row + (odd(row & answer + 1) ^ lie)];
}

// A number u of the way between the bounds becomes a yes with probability u, and the yes or no may be turned around.
function duchi(terms, answer, chance) {
  const yes = chance.uniform(terms.parameters.steps) < answer;
  const [lie] = chance.coins(1, thresholdOfOdds(rational(terms.epsilon), [1n, 1n]));
  return [yes ^ lie];
}

// A whole number from the window that belongs to the answer, or one outside it. Both are drawn in any case.
function piecewise(terms, answer, chance) {
  const {steps, window} = terms.parameters;
  const [outside] = chance.coins(1, thresholdOfOdds(rational(terms.epsilon), [BigInt(steps), BigInt(window)]));
  const near = answer + chance.uniform(window), far = chance.uniform(steps);
  return [outside ? far + (far >= answer ? window : 0) : near];
}

// A coin between the two before; a bit is written after all whole numbers.
function hybrid(terms, answer, chance) {
  const [above, below] = rational(terms.epsilon), small = above * 10000n <= 6093n * below;
  const [tails] = chance.coins(1, thresholdOfExponential(small ? [0n, 1n] : [above, 2n * below]));
  const [number] = piecewise(terms, answer, chance), [bit] = duchi(terms, answer, chance);
  return [tails ? terms.parameters.steps + terms.parameters.window + bit : number];
}

// The probability of not telling the truth: (k-1)/(e^ε + k-1), or 1 less a rational one that the terms state.
function lieOf(terms, count) {
  if (!("truth" in terms.parameters)) return thresholdOfOdds(rational(terms.epsilon), [BigInt(count - 1), 1n]);
  const [above, below] = rational(terms.parameters.truth);
  return thresholdOf([below - above, below]);
}

function odd(number) {
  let ones = 0;
  for (; number; number &= number - 1) ones ^= 1;
  return ones;
}

// Bit v is bit v mod 8 of byte v // 8: one byte as a number, several as hexadecimal digits.
function packed(bits) {
  const bytes = Array(Math.ceil(bits.length / 8)).fill(0);
  bits.forEach((bit, place) => { if (bit) bytes[place >> 3] |= 1 << (place & 7); });
  return bytes.length === 1 ? bytes[0] : bytes.map(byte => byte.toString(16).padStart(2, "0")).join("");
}
