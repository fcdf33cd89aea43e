import Testing

/// Motions with their values and velocities computed at 60 digits by another program (mpmath), rounded to 17.
struct CurveReference: Sendable, CustomTestStringConvertible {
    var arguments: [String]
    /// What the greatest value of its components is counted in, ≥ 1: the distances, and the velocity over the spring's
    /// frequency.
    var scale: Double
    /// The same for velocities.
    var rate: Double
    var samples: [(time: Double, value: Double, velocity: Double)]

    var testDescription: String { arguments.joined(separator: " ") }

    static let cases = [
        CurveReference(
            arguments: ["spring(response: 0.669, dampingFraction: 0.762)"],
            scale: 1, rate: 9.392,
            samples: [
                (0.0, 0.0, 0.0),
                (0.4838, 1.0234369920367468, 0.089956338361122757),
                (0.5955, 1.0201661382398605, -0.094454273447803552),
                (3.7596, 1.0000000000031881, -2.2976645035156189e-11),
                (10.956, 1.0, -7.89292656116014e-34),
            ]),
        CurveReference(
            arguments: ["spring(duration: 0.595, bounce: 1.0)", "--velocity", "0.79"],
            scale: 1, rate: 10.56,
            samples: [
                (0.0, 0.0, 0.79000000000000004),
                (0.3218, 1.9482695725920433, -3.444259758503997),
                (1.9684, 1.4276511797622543, 9.5782592278940202),
                (2.2509, 0.72077642562629135, -10.170691795242302),
                (37.279, 1.5068481568970258, -9.1372873510665006),
            ]),
        CurveReference(
            arguments: [
                "interpolatingSpring(mass: 1.075, stiffness: 3.322, damping: 0.119, initialVelocity: 0.06)",
                "--velocity", "9.81",
            ],
            scale: 5.581, rate: 9.81,
            samples: [
                (0.0, 0.0, 9.8100000000000005),
                (0.4757, 4.3583989378481511, 7.454882925518317),
                (1.3555, 5.2205191703059863, -5.6705971898522412),
                (2.8211, -3.8150485415199368, 0.82712326405851984),
                (38.776, 0.3946238419550754, 0.49366514198455456),
            ]),
        CurveReference(
            arguments: ["linear(duration: 0.659).speed(2.932)", "--velocity", "-7.91"],
            scale: 7.91, rate: 7.91,
            samples: [
                (0.0, 0.0, -7.9100000000000001),
                (0.3705, 1.0, 0.0),
                (1.8497, 1.0, 0.0),
                (3.062, 1.0, 0.0),
                (13.059, 1.0, 0.0),
            ]),
        CurveReference(
            arguments: [
                "timingCurve(0.394, 1.132, 0.416, 1.212, duration: 0.63)", "--from", "0.34", "--to", "4.91",
                "--velocity", "18.3",
            ],
            scale: 89.853, rate: 89.853,
            samples: [
                (0.0, 0.34000000000000002, 18.300000000000001),
                (0.3311, 5.0547282031200363, 3.7044282412105798),
                (0.6472, 4.9100000000000001, 0.0),
                (3.9501, 4.9100000000000001, 0.0),
                (8.786, 4.9100000000000001, 0.0),
            ]),
        CurveReference(
            arguments: [
                "easeOut(duration: 2.169).delay(0.306)", "--from", "10", "--to", "250", "--velocity", "-15.16",
            ],
            scale: 3790.0, rate: 3790.0,
            samples: [
                (0.0, 10.0, -15.16),
                (0.4205, 30.807987571112128, 176.6141087534984),
                (0.6023, 61.835246977613789, 165.15101735643311),
                (1.6307, 200.81701266654332, 101.39213372238146),
                (23.127, 250.0, 0.0),
            ]),
        CurveReference(
            arguments: [
                "interpolatingSpring(mass: 1.296, stiffness: 4.967, damping: 13.921, initialVelocity: -7.37).repeatCount(1, autoreverses: reverse, every: 0.823)",
                "--from", "10", "--to", "250",
            ],
            scale: 250, rate: 250,
            samples: [
                (0.0, 10.0, -1768.8),
                (0.0791, -81.685277375277145, -695.18503775658163),
                (1.7766, 250.0, 0.0),
                (2.876, 250.0, 0.0),
                (14.757, 250.0, 0.0),
            ]),
        CurveReference(
            arguments: [
                "timingCurve(0.694, -0.267, 0.037, 0.451, duration: 0.617)", "--from", "-3.89", "--to", "-3.86",
                "--retarget", "at=0.651,to=-1.57,curve=circularEaseIn(duration: 1.9)", "--retarget",
                "at=0.71,to=3.05,curve=timingCurve(0.882, -0.407, 0.394, -0.189, duration: 0.15),mode=chain",
            ],
            scale: 3.89, rate: 3.89,
            samples: [
                (0.0, -3.8900000000000001, -0.018706299422230061),
                (0.232, -3.8874636979177996, 0.19196642501276894),
                (1.1621, 3.0499999999999998, 0.0),
                (1.7718, 3.0499999999999998, 0.0),
                (10.354, 3.0499999999999998, 0.0),
            ]),
        CurveReference(
            arguments: [
                "smooth", "--from", "2.83", "--to", "4.34", "--velocity", "16.58", "--retarget",
                "at=0.203,to=-2.97,curve=spring(response: 1.247, dampingFraction: 0.449)", "--retarget",
                "at=0.276,to=-0.7,curve=spring(duration: 0.911, bounce: 0.0),mode=chain", "--retarget",
                "at=0.836,to=2.61,curve=spring(duration: 1.049, bounce: 0.0).repeatForever(autoreverses: true, every: 1.862),mode=chain",
            ],
            scale: 7.391, rate: 92.882,
            samples: [
                (0.0, 2.8300000000000001, 16.579999999999998),
                (0.4449, 0.44289353051549751, -18.197730233450794),
                (1.8938, 2.56697846655607, 0.2225876741753208),
                (1.9264, 2.5736684482638781, 0.18873956384037121),
                (27.075, 0.20414826441226034, 7.2914240498124889),
            ]),
        CurveReference(
            arguments: [
                "smooth(duration: 0.337, extraBounce: -0.201).speed(1.797).delay(0.846)", "--from", "10", "--to", "250",
                "--velocity", "-18.35", "--retarget", "at=0.866,to=4.77,curve=spring(duration: 0.985, bounce: 1.0)",
            ],
            scale: 95206.654, rate: 607310.71,
            samples: [
                (0.0, 10.0, -18.350000000000001),
                (0.2771, 7.7006571339751381, -0.21441176458259887),
                (0.9613, 252.86277928608438, 1858.2892323863943),
                (3.5351, -373.26415255761632, -377.77246587686309),
                (38.105, -339.788397078352, 1061.5907856857293),
            ]),
        CurveReference(
            arguments: [
                "timingCurve(0.254, -0.433, 0.578, 0.544, duration: 2.259)", "--from", "2.18", "--to", "-2.58",
                "--retarget",
                "at=0.383,to=-3.15,curve=timingCurve(0.332, 0.52, 0.834, 0.806, duration: 2.21),mode=chain",
                "--retarget", "at=0.677,to=3.49,curve=bouncy", "--retarget",
                "at=1.37,to=1.39,curve=spring(duration: 0.528, bounce: -0.318561)",
            ],
            scale: 3.49, rate: 43.857,
            samples: [
                (0.0, 2.1800000000000002, 3.5920709114547935),
                (0.1721, 2.5995610469597106, 1.390723793539138),
                (1.7343, 1.8401728537642923, -2.1076699530652121),
                (3.8717, 1.3900202776233226, -9.4945297816383579e-5),
                (31.376, 1.3899999999999999, -1.1166689618214255e-60),
            ]),
        CurveReference(
            arguments: [
                "easeInOut(duration: 1.634).delay(0.779).delay(0.934)", "--from", "10", "--to", "250", "--velocity",
                "4.29", "--retarget", "at=0.665,to=0.83,curve=easeIn(duration: 0.844),mode=additive", "--retarget",
                "at=1.187,to=3.46,curve=timingCurve(0.759, 0.715, 0.644, 1.376, duration: 2.659),mode=chain",
            ],
            scale: 90107.532, rate: 90107.532,
            samples: [
                (0.0, 10.0, 4.29),
                (0.3973, 10.562788604781912, -0.68068546522291335),
                (0.8675, -11.601921024744993, -193.79088782007359),
                (3.617, 3.6634666513810719, -0.68901109687036966),
                (34.811, 3.46, 0.0),
            ]),
    ]
}
