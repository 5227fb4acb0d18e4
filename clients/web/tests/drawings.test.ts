import { expect, test } from "vitest";
import { kindOf } from "../src/parts/drawings";

test.each([
  ["Antipasto platter", "Starters", "plate"],
  ["Steak frites", "Mains", "plate"],
  ["Broiled salmon", "Mains", "plate"],
  ["Iced tea", "Soft drinks", "glass"],
  ["Mint tea", "Coffee and tea", "cup"],
  ["Pizza dough ball", "From our pantry", "jar"],
  ["Caprese panino", "Weekday lunch", "bread"],
  ["Caffè latte", "Coffee and tea", "cup"],
  ["Americano", "Coffee and tea", "cup"],
  ["Cheesecake", "Sweets", "cake"],
  ["Garlic flatbread", "Starters", "bread"],
  ["Chicken panino", "Weekday lunch", "bread"],
  ["House red", "Wine", "wine"],
])("%s of %s is drawn as what it is, by whole words", (name, section, kind) => {
  expect(kindOf(name, section)).toBe(kind);
});
