// SPDX-License-Identifier: MIT
// Presets with a text each, and the guided tour. The texts claim only what the preset shows on this page; the numbers were
// measured with seeds 1 to 3.
import type { View } from './state';
import type { Settings } from './types';

export interface Story {
  id: string;
  name: string; // in the list
  text: string;
  settings: Partial<Settings>;
  view?: Partial<View>;
  open?: 'shake'; // a panel that belongs to it
}

const SP_GMP: Settings['methods'] = [
  { param: 'sp', norm: 'none' },
  { param: 'gmp', norm: 'none' },
];
const FOUR: Settings['methods'] = [
  { param: 'sp', norm: 'none' },
  { param: 'wn', norm: 'none' },
  { param: 'sp', norm: 'bn' },
  { param: 'gmp', norm: 'none' },
];

export const STORIES: Story[] = [
  {
    id: 'jump',
    name: 'Why GmP does not jump',
    text: 'Both networks start from the same seed and see the same batches. Red lines have just jumped: a short weight vector turns far in a single step. GmP learns the angle itself, and one step of Adam changes it by about the learning rate, here 0.1 radians or 6 degrees.',
    settings: {
      data: 'rings',
      rows: 400,
      noise: 0.1,
      methods: SP_GMP,
      hidden: [12],
      lr: 0.1,
      batch: 16,
      seed: 2,
    },
    view: { speed: 10, fill: 'surface' },
  },
  {
    id: 'figure1',
    name: 'Figure 1: shake',
    text: 'Training is paused. The same epsilon is added to every learned parameter of every method, and the dashed lines show where the boundaries go. Move the slider Epsilon. For GmP the turn can never exceed epsilon (Theorem 3.7); the other methods have no such bound.',
    settings: {
      data: 'rings',
      rows: 400,
      noise: 0.1,
      methods: FOUR,
      hidden: [12],
      lr: 0.1,
      batch: 16,
      seed: 2,
    },
    view: { speed: 10, fill: 'none' },
    open: 'shake',
  },
  {
    id: 'figure2',
    name: 'Figure 2: Levy, 1-D',
    text: 'One input, 100 units, all rows in every step. The strip below each function shows where the units switch, newest on top. At rate 0.1 the breakpoints of SP, WN and BN leave the data and most of these units die; those of GmP move by less than 1 a step. Run it to step 5,000: GmP ends near 0.6 with this seed, the others above 0.9. Seed 2 is a start from which GmP stays at 1.0.',
    settings: {
      data: 'levy',
      rows: 50,
      noise: 0.1,
      methods: FOUR,
      hidden: [100],
      lr: 0.1,
      batch: 0,
      init: 'glorot',
      seed: 1,
    },
    view: { speed: 10, fill: 'none' },
  },
  {
    id: 'figure3',
    name: 'Figure 3: banana',
    text: 'The real banana set with 10 units, as in Figure 3 of the paper. In the first 200 steps WN and BN turn lines by up to 180 degrees and SP by 53; GmP never turns one by more than 8. Accuracy differs: with this seed, GmP is behind after 400 steps (0.71 against 0.82 to 0.86) and level after 1,000 (0.88 against 0.83 to 0.90).',
    settings: {
      data: 'banana',
      rows: 1000,
      noise: 0,
      methods: FOUR,
      hidden: [10],
      lr: 0.1,
      batch: 128,
      seed: 1,
    },
    view: { speed: 10, fill: 'surface' },
  },
  {
    id: 'deep',
    name: 'Two layers: bent lines',
    text: 'Units of the first layer switch along straight lines. Units of the second layer switch along lines that bend wherever they cross one of those. Together they cut the plane into regions. In each region the network is one affine function, which gives the region its colours.',
    settings: {
      data: 'spiral',
      rows: 400,
      noise: 0.05,
      methods: SP_GMP,
      hidden: [10, 8],
      lr: 0.03,
      batch: 32,
      seed: 2,
    },
    view: { speed: 10, fill: 'regions' },
  },
  {
    id: 'bn-wins',
    name: 'BN wins: four layers',
    text: 'Four layers of eight units on a spiral, at a rate that is too large for deep GmP networks. By step 1,000 BN has the lowest loss and 5 of 32 dead units; GmP has 16, and with IMN it has 19. Seeds 2 and 3 end in the same order. Restart with rate 0.01: then GmP+IMN has the lowest loss after 200 steps and no dead unit, and plain GmP is last.',
    settings: {
      data: 'spiral',
      rows: 400,
      noise: 0.05,
      hidden: [8, 8, 8, 8],
      lr: 0.1,
      batch: 32,
      seed: 1,
      methods: [
        { param: 'sp', norm: 'bn' },
        { param: 'gmp', norm: 'none' },
        { param: 'gmp', norm: 'imn' },
      ],
    },
    view: { speed: 200, fill: 'surface' },
  },
  {
    id: 'gmp-loses',
    name: 'GmP fails: SGD, rate 1',
    text: 'Gradient descent with momentum at rate 1 instead of Adam. SP fits the crescents. With GmP and Sphere, all units leave the data within 1,000 steps, and the accuracy ends at chance. Smooth motion does not protect against a rate that is far too large.',
    settings: {
      data: 'crescents',
      rows: 500,
      noise: 0.2,
      hidden: [20],
      lr: 1,
      batch: 32,
      seed: 1,
      optimizer: 'sgd',
      methods: [
        { param: 'sp', norm: 'none' },
        { param: 'gmp', norm: 'none' },
        { param: 'sphere', norm: 'none' },
      ],
    },
    view: { speed: 200, fill: 'surface' },
  },
  {
    id: 'later',
    name: 'Late: SP moves less',
    text: 'As training goes on, SP weights grow longer, and a step of the same size turns them less. GmP still moves by up to the learning rate in every step. Lower the rate while it runs to let GmP settle.',
    settings: {
      data: 'crescents',
      rows: 500,
      noise: 0.2,
      methods: SP_GMP,
      hidden: [10],
      lr: 0.1,
      batch: 32,
      seed: 2,
    },
    view: { speed: 200, fill: 'surface' },
  },
  {
    id: 'diverge',
    name: 'A method that diverges',
    text: 'Two layers at rate 3 with gradient descent: the loss of WN overflows after a few steps. The picture shows this, and the other methods continue. At this rate none of them stays accurate: after 150 steps all are near chance.',
    settings: {
      data: 'crescents',
      rows: 500,
      noise: 0.2,
      hidden: [20, 20],
      lr: 3,
      batch: 32,
      seed: 2,
      optimizer: 'sgd',
      methods: FOUR,
    },
    view: { speed: 30, fill: 'surface' },
  },
];

export interface Stop {
  title: string;
  text: string;
  story: string;
  settings?: Partial<Settings>;
  view?: Partial<View>;
  play: boolean;
  open?: 'shake';
}

export const TOUR: Stop[] = [
  {
    title: 'The lines',
    text: 'The network has 12 hidden ReLU units. Each line is the place where one unit switches between off and on. The colours show what the network predicts: a circle in the middle of a ring. Point at a line, or tap it, to see its unit.',
    story: 'jump',
    settings: { methods: [{ param: 'sp', norm: 'none' }] },
    view: { speed: 3 },
    play: false,
  },
  {
    title: 'Standard weights jump',
    text: 'This is the usual parameterization, SP: the weights themselves are learned. Watch the red lines: in a single step they turn by tens of degrees. The unit is then active for other points than before.',
    story: 'jump',
    settings: { methods: [{ param: 'sp', norm: 'none' }] },
    view: { speed: 10 },
    play: true,
  },
  {
    title: 'GmP glides',
    text: 'The second picture shows the same network in the geometric parameterization, GmP: it learns the angle, the offset and the scale of every unit. Same seed, same batches, same rate. The plot "largest turn" has a logarithmic axis: SP is far above.',
    story: 'jump',
    play: true,
  },
  {
    title: 'The reason',
    text: 'Training is paused. The same epsilon is added to every parameter, and the dashed lines show where the boundaries go. Move the slider Epsilon. The turn of GmP is at most epsilon; for the others it depends on the length of the weights.',
    story: 'figure1',
    view: { speed: 10 },
    play: false,
    open: 'shake',
  },
  {
    title: 'Regions, and deeper layers',
    text: 'With a second layer the boundaries bend. The network is affine inside each region, and the number below the picture counts them. Use the menu "Picture" to switch between surface and regions.',
    story: 'deep',
    play: true,
  },
  {
    title: 'Cases where GmP does not help',
    text: 'In this deep network at a large rate, many of its units die, and BN ends with the lowest loss. Late in training, SP can be calmer than GmP. The presets show these cases too. Now change anything, or try your own data.',
    story: 'bn-wins',
    play: true,
  },
];
