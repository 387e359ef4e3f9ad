// Probabilities as exact binary fractions: bits ↦ [floor(p · 2^bits), whether that product is a whole number].
// The same functions as discreet/noise/bernoulli.py, in BigInt, so that no rounding of a float decides anything.

// A number such as "3/4", "-0.25" or "1.5e3", exactly: [numerator, denominator].
export function rational(text) {
  const [above, below = "1"] = String(text).trim().split("/");
  const [n, d] = decimal(above), [m, e] = decimal(below);
  if (m === 0n) throw new RangeError("a fraction must not divide by zero");
  return m > 0n ? [n * e, d * m] : [-n * e, -d * m];
}

function decimal(text) {
  const found = /^\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  if (!found || found[2] + found[3] === "") throw new RangeError("this must be a number");
  const digits = BigInt(found[2] + found[3]) * (found[1] === "-" ? -1n : 1n);
  const power = Number(found[4] ?? 0) - found[3].length;
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)];
}

// p = numerator/denominator, which is kept as well: numbers written in another base than two can be equal to it.
export function thresholdOf([numerator, denominator]) {
  const at = bits => {
    const scaled = numerator << BigInt(bits);
    return [scaled / denominator, scaled % denominator === 0n];
  };
  return Object.assign(at, {exact: [numerator, denominator]});
}

// p = r/(e^x + r) for rationals x, r > 0. Never whole: e^x is transcendental for a rational x ≠ 0.
export function thresholdOfOdds(x, [above, below]) {
  return bits => {
    for (let guard = 64n; ; guard *= 2n) {
      const scale = BigInt(bits) + guard;
      const [least, most] = exponential(x, scale);
      const share = e => (above << BigInt(bits) << scale) / (below * e + (above << scale));
      if (share(least) === share(most)) return [share(least), false];
    }
  };
}

// p = e^-x for a rational x ≥ 0. Whole only for x = 0.
export function thresholdOfExponential(x) {
  if (x[0] === 0n) return bits => [1n << BigInt(bits), true];
  return bits => {
    for (let guard = 64n; ; guard *= 2n) {
      const scale = BigInt(bits) + guard;
      const [least, most] = exponential(x, scale);
      const share = e => (1n << BigInt(bits) + scale) / e;
      if (share(least) === share(most)) return [share(least), false];
    }
  };
}

// Two whole numbers with e^x · 2^bits between them: the Taylor series, each term rounded down in one sum and up in the
// other. Once n ≥ 2x every further term is at most half of the one before, so all of them are at most the last one.
function exponential([numerator, denominator], bits) {
  let low = 1n << bits, high = low, least = low, most = high;
  for (let n = 1n; high > 1n || n * denominator < 2n * numerator; n += 1n) {
    low = low * numerator / (denominator * n);
    high = high * numerator / (denominator * n) + 1n;
    least += low;
    most += high;
  }
  return [least, most + high];
}
