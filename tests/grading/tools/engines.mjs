// For each line of input, a pattern with its flags and texts: whether JavaScript finds it in each text, or `null` if it is not a pattern.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
    const { pattern, flags, texts } = JSON.parse(line);
    let found = null;
    try {
        const compiled = new RegExp(pattern, flags);
        found = texts.map((text) => compiled.test(text));
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
    }
    console.log(JSON.stringify(found));
}
